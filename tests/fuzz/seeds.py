"""Writes the inputs that fuzzing begins with: valid ones, and some that are nearly so.

    python3 seeds.py RANKRLS FOLDER

`RANKRLS` is the program; it writes models.
Needs nothing but Python 3.
"""

import gzip
import pathlib
import subprocess
import sys
import tempfile

TINY = b"1 qid:a 1:1 3:2\n0 qid:a 2:0.5\n0.5 qid:b 1:3\n0.25 qid:b 3:-1\n"
BIG = b"1e300 qid:1 4294967294:1e-300\r\n-0x1\n+.5 qid:1 1:0 # end\n\n-1. 007:+1\n"
TABLE = b'query,"a ""x""",grade,text,b\nq1,1,2,NA,-0.5\n"q1",,0,0,nan\nq2,True,1,1e3,3\nq2,0,.5,,"7"\n'
TABLES = [
    b'grade,query,text,x\n1,a,"red,\nor ""blue""",2\n0,a,,"3"\n',
    b"sep=;\ngrade;query;text;x\n1;a;b;2\r\n0;a;;3\r\n",
    b"grade,query,text,x\n1,a,,1.797e308\n0,a,NA,#N/A\n2,b,,1,234\n",
    b"grade,query,text,18446744073709551615,1\n1,a,,1,2\n0,a,x,2,1\n",
]
LISTS = [
    b"3\n1\n3\n\n",
    b"a\nb\na\nb\nc\nc\nc\n",
    b"1 2\n2 3 0.5 # half\n\n7 1 1 2\n",
    b"1\n7\n3\n\n\n",
    b"a\n b c \na\n\n",
    b"a text\n\nanother\n",
]
CONLLU = (
    b"# sent_id = s1\n# score = -1.5\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tdo\tdo\tAUX\t_\t_\t3\taux\t_\t_\n"
    b"2\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_\n3\tgo\tgo\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
    b"3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_\n\n"
)
LINKAGES = (
    b"dog can't (()(\nFound 2 linkages (2 had no P.P. violations) at null count 1\n"
    b"\tLinkage 1, cost vector = (UNUSED=1 DIS=-1.04 LEN=20)\n     LEFT-WALL  0.000  hWa+ Xp+\n"
    b"     dog.n  1.000  Wa- O+\n     (()[!]  0.000  Xp-\n\n[(LEFT-WALL)(dog.n)([can't])\n"
    b"((()[!])(RIGHT-WALL)]\n[[0 3 0 (Xp)]\n[0 1 1 (Wa)]]\n[0]\n\n"
    b"\tUnique linkage, cost vector = (UNUSED=3 DIS= 0.00 LEN=0)\n\n"
    b"[(LEFT-WALL)([dog])([can't])([(()(])(RIGHT-WALL)]\n[]\n[0]\n"
)


def compressed(data):
    zstd = subprocess.run(["zstd", "-qc"], input=data, check=True, capture_output=True).stdout
    return [gzip.compress(data, mtime=0), zstd]


def own(program, folder):
    """What the program itself writes of the tiny data."""
    (folder / "tiny.svm").write_bytes(TINY)

    def run(*options):
        done = subprocess.run([program, *options], cwd=folder, capture_output=True)
        assert done.returncode == 0, done.stderr

    models = {
        "a": ["select", "tiny.svm", "-k2", "--lambda=1"],
        "b": ["select", "tiny.svm", "-k2", "--lambda=1", "--strategy=sampled", "--candidates=2"],
        "c": ["select", "tiny.svm", "-k2", "--lambda=1", "--criterion=cindex"],
        "d": ["train", "tiny.svm", "--lambda=1"],
        "e": ["tune", "tiny.svm", "--lambda=1,2", "-k2"],
    }
    for name, options in models.items():
        run(*options, "-q", "-o", name)
    read = lambda name: (folder / name).read_bytes()
    return {
        "model": [read(name) for name in models],
    }


def seeds(program, folder):
    svmlight = [TINY, BIG, b"1\n2 # x\n", *compressed(TINY)]
    return own(program, folder) | {
        "svmlight": [bytes([flags]) + text for flags in (0, 3, 20) for text in svmlight],
        "table": [
            bytes([flags]) + TABLE.replace(b",", separator)
            for flags, separator in [(0x18, b","), (0x39, b"\t"), (0xB8, b","), (0x5E, b",")]
        ]
        + [bytes([flags]) + table for flags in (0x18, 0xB8) for table in TABLES],
        "names": [b"word:the\nbigram:a b\n\n\xc3\xa9\r\n", *compressed(b"a\nb\n")],
        "scores": [b"1\n-0.5\r\n1e-300\n", b" 2 \n", *compressed(b"1\n2\n")],
        "lists": [
            bytes([kind]) + text
            for kind, texts in enumerate(LISTS)
            for text in [b"\xef\xbb\xbf" + texts, texts.replace(b"\n", b"\r\r\n"), *compressed(texts)]
        ],
        "features": [b"1\n3 # three\n\n16\n", *compressed(b"1\n2\n")],
        "lines": [
            b"\0" + b'{"run":1,"schema":"fuzz/1"}\n',
            b"\0" + b'{"run":1,"schema":"fuzz/1"}\n{"sentence":0,"outcome":"timed_out"}\n',
            b"\1" + b'{"sentence":1,"outcome":{"unreadable":"\\"x\xc3\xa4"}}\n[]\n"torn',
        ],
        "conllu": [CONLLU, CONLLU.replace(b"# score = -1.5\n", b"").replace(b"\t3\t", b"\t0\t")],
        "linkages": [LINKAGES, b"Dogs bark\nNo complete linkages found.\nNo linkages found.\n"],
    }


def main():
    program, target = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        for name, inputs in seeds(program, pathlib.Path(folder)).items():
            (target / name).mkdir(parents=True, exist_ok=True)
            for number, data in enumerate(inputs):
                (target / name / f"seed-{number}").write_bytes(data)


if __name__ == "__main__":
    main()
