"""How a text is written is told from its bytes, whatever language it is in."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from problems.competition.grader.tables.contents import read_any
from problems.competition.grader.tables.text_look import encoding_of

WORDS = {
    "gb18030": ("姓名,城市,流失", "张伟 王芳 李娜 刘洋", "北京 上海 广州 成都", "是 否"),
    "big5": ("姓名,城市,流失", "張偉 王芳 陳靜 劉洋", "臺北 高雄 臺中 新竹", "是 否"),
    "cp932": ("氏名,都市,解約", "佐藤 鈴木 高橋 田中", "東京 大阪 札幌 福岡", "有 無"),
    "shift_jis": ("氏名,都市,解約", "サトウ スズキ タカハシ", "東京 大阪 札幌 福岡", "はい いいえ"),
    "euc_jp": ("氏名,都市,解約", "佐藤 鈴木 高橋 田中", "東京 大阪 札幌 福岡", "はい いいえ"),
    "cp949": ("이름,도시,이탈", "김철수 이영희 박민수 최지우", "서울 부산 대구 인천", "예 아니오"),
    "cp1251": ("имя,город,отток", "Иван Мария Пётр Ольга", "Москва Казань Омск", "да нет"),
    "cp866": ("имя,город,отток", "Иван Мария Пётр Ольга", "Москва Казань Омск", "да нет"),
    "koi8_r": ("имя,город,отток", "Иван Мария Пётр Ольга", "Москва Казань Омск", "да нет"),
    "iso8859_5": ("имя,город,отток", "Иван Мария Пётр Ольга", "Москва Казань Омск", "да нет"),
    "mac_cyrillic": ("имя,город,отток", "Иван Мария Пётр Ольга", "Москва Казань Омск", "да нет"),
    "cp1250": ("imię,miasto,rozwiązał", "Łukasz Zofia Żaneta", "Łódź Kraków Poznań Gdańsk", "tak nie"),
    "iso8859_2": ("jméno,město,odešel", "Jiří Zdeněk Šárka Tomáš", "Plzeň Děčín Přerov", "ano ne"),
    "cp1254": ("isim,şehir,ayrıldı", "Ayşe Çağla Gökhan İbrahim", "İstanbul Muğla Düzce", "evet hayır"),
    "cp1257": ("vārds,pilsēta,aizgāja", "Jānis Kārlis Ķirsis Žanis", "Rīga Cēsis Jūrmala", "jā nē"),
    "cp850": ("Name,Stadt,Kündigung", "Müller Jäger Weiß Höfer", "München Köln Zürich", "ja nein"),
    "cp852": ("név,város,elment", "Gergő Ödön Szűcs Ágnes", "Győr Pécs Kőszeg", "igen nem"),
    "mac_roman": ("nom,ville,résilié", "François Élodie Noël", "Orléans Besançon Évry", "oui non"),
    "cp1253": ("όνομα,πόλη,έφυγε", "Γιώργος Μαρία Νίκος", "Αθήνα Πάτρα Βόλος", "ναι όχι"),
    "cp1255": ("שם,עיר,עזב", "דוד רחל משה", "ירושלים חיפה", "כן לא"),
    "cp1256": ("الاسم,المدينة,غادر", "محمد فاطمة علي", "القاهرة بيروت", "نعم لا"),
    "cp874": ("ชื่อ,เมือง,ออก", "สมชาย สมหญิง วิชัย", "กรุงเทพ เชียงใหม่ ภูเก็ต", "ใช่ ไม่"),
    "cp1252": ("Name,Stadt,Kündigung", "Müller Jäger Weiß O’Neil", "München Köln Zürich Evian", "ja nein"),
    "latin-1": ("nom,ville,résilié", "FRANÇOIS ÉÈ Noël Zoé", "Orléans Besançon Évry", "oui non"),
    "utf-8": ("姓名,ville,Kündigung", "张伟 Müller Иван", "北京 Köln Омск", "是 nein да"),
}


def table(encoding: str, rows: int) -> str:
    head, *columns = WORDS[encoding]
    draw = random.Random(rows)
    lines = [",".join(draw.choice(words.split()) for words in columns) for _ in range(rows)]
    return "\n".join([f"{head},age", *(f"{line},{18 + number % 60}" for number, line in enumerate(lines))]) + "\n"


@pytest.mark.parametrize("rows", [5, 60, 3000])
@pytest.mark.parametrize("encoding", WORDS)
def test_a_table_is_read_in_the_words_of_its_language(encoding: str, rows: int) -> None:
    """A Chinese table was read as Western text: its columns had names that nobody had written."""
    text = table(encoding, rows)
    data = text.encode(encoding)
    found = encoding_of(data[:100_001])  # which cuts a letter in two
    assert found is not None and data.decode(found) == text


@pytest.mark.parametrize("plain", [0, 40_000])
@pytest.mark.parametrize("stray", [b"\xff", b"\xc3", "\xfc".encode("latin-1")])
def test_a_stray_byte_turns_no_other_letter(tmp_path: Path, stray: bytes, plain: int) -> None:
    """One byte that is no UTF-8 made `MÃ¼ller` of every `Müller` of the training table, and of none of the test's."""
    text = "word,age\n" + "Bonn,40\n" * plain + "Müller,50\nKöln,60\n张伟,70\n" * 4
    path = tmp_path / "train.csv"
    path.write_bytes(text.encode() + b"Z" + stray + b"rich,80\n")
    found, told = read_any(path)
    assert set(found["word"]) - {"Bonn"} == {"Müller", "Köln", "张伟", "Z\ufffdrich"}
    assert told == "UTF-8 but for stray bytes, which are read as \ufffd"


@pytest.mark.parametrize("encoding", ["gb18030", "cp1251", "cp1252"])
def test_what_begins_in_plain_letters_is_read_by_what_comes_later(tmp_path: Path, encoding: str) -> None:
    plain = "name,city,churn,age\n" + "Smith,Rome,yes,40\n" * 20_000
    later = table(encoding, 300).partition("\n")[2]
    (tmp_path / "train.csv").write_bytes((plain + later).encode(encoding))
    read, told = read_any(tmp_path / "train.csv")
    assert read["city"].iloc[-1] == later.splitlines()[-1].split(",")[1] and len(read) == 20_300
    assert encoding.upper() in told


def test_a_letter_that_the_look_cuts_in_two_makes_no_other_encoding():
    data = ("Straße,Größe\n" + "東京,Ω\n" * 9 + "😀" * 3).encode()
    assert {encoding_of(data[:end]) for end in range(20, len(data) + 1)} == {"utf-8"}


def test_numbers_of_a_program_are_no_text():
    """Half of their bytes are 0, as in UTF-16; but so are those between."""
    assert encoding_of(b"".join(number.to_bytes(4, "little") for number in range(200))) is None
    assert encoding_of("name,size\n".encode("utf-16-le") * 9) == "utf-16-le"


@pytest.mark.parametrize("words", [("süß", "Grüße", "größer"), ("créée", "année", "agréée"), ("Åäö", "blåöga")])
def test_latin_words_whose_marked_letters_stand_together_are_of_no_other_script(words):
    text = "Wort,Zahl\n" + "".join(f"{words[number % len(words)]},{number}\n" for number in range(60))
    assert text.encode("cp1252").decode(str(encoding_of(text.encode("cp1252")))) == text
