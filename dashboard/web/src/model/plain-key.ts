// Keys that are ours to take.

type Pressed = Pick<KeyboardEvent, "ctrlKey" | "metaKey" | "altKey">;

/** False for a key that belongs to the browser: Ctrl and plus enlarges the page, Alt and left goes back. */
export const isPlain = ({ ctrlKey, metaKey, altKey }: Pressed): boolean => !ctrlKey && !metaKey && !altKey;

/** False also for one that is typed into a field. */
export const isOurs = (event: KeyboardEvent): boolean => isPlain(event) && !(event.target instanceof HTMLElement && event.target.matches("input, textarea, select"));
