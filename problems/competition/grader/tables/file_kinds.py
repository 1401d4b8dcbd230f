"""Which files are images, sounds and texts, by how their names end."""

KINDS = {
    "image": (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".dcm"),
    "sound": (".wav", ".mp3", ".flac", ".ogg", ".aif", ".aiff"),
    "text": (".txt", ".html", ".xml"),
}
