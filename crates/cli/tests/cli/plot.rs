use crate::support::Folder;

fn count(svg: &str, tag: &str) -> usize {
    let document = roxmltree::Document::parse(svg).unwrap();
    let nodes = document.descendants();
    nodes.filter(|node| node.tag_name().name() == tag).count()
}

#[test]
fn the_path_of_a_selection_is_drawn() {
    let folder = Folder::new();
    let select = "select train.svm -k 3 --lambda 0.5";
    let (text, _) = folder.run(&format!("{select} --plot path.svg"));
    assert_eq!(text.lines().count(), folder.stdout(select).lines().count());
    let svg = folder.read("path.svg");
    assert_eq!(count(&svg, "polyline"), 2);
    // Features are named once, below the panels, and test data have a band.
    assert!(svg.contains(">features<") && !svg.contains("word:"));
    folder.run(&format!(
        "{select} --names names.txt --test test.svm --plot named.svg"
    ));
    let named = folder.read("named.svg");
    assert_eq!(named.matches("rotate(").count(), 3, "{named}");
    assert!(named.contains("word:") && named.contains("<polygon"));
    assert!(svg.contains("leave-query-out error") && svg.contains("at lambda 0.5"));
    folder.run(&format!("{select} --plot again.svg --threads 2 --json"));
    assert_eq!(folder.read("again.svg"), svg);
    folder.run(&format!(
        "{select} --plot test.svg --test test.svm --metrics map,cindex"
    ));
    let svg = folder.read("test.svg");
    assert!(svg.contains(">test cindex<") && count(&svg, "polyline") == 4);
}

#[test]
fn the_weights_of_a_model_are_drawn() {
    let folder = Folder::new();
    folder.write("nasty.txt", "<b>&\"a\"\nb\nc\nd\ne\nf\ng\n");
    folder.run("select train.svm -k 3 --lambda 0.5 --names nasty.txt -o model.json");
    let (text, _) = folder.run("inspect model.json --plot weights.svg");
    assert_eq!(text, folder.stdout("inspect model.json"));
    let svg = folder.read("weights.svg");
    assert_eq!(svg.matches("class=\"rk-bar\"").count(), 3);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let mut names = document.descendants().filter_map(|node| node.text());
    assert!(names.any(|name| name == "<b>&\"a\""), "{svg}");
    folder.run("select train.svm -k 3 --lambda 0.5 -o model.json");
    folder.run("inspect model.json --plot weights.svg --json");
    assert!(folder.read("weights.svg").contains(">feature 1<"));
    folder.run("inspect model.json --plot weights.svg --top 2");
    assert_eq!(
        folder
            .read("weights.svg")
            .matches("class=\"rk-bar\"")
            .count(),
        2
    );
    folder.run("train train.svm --lambda 0.5 -o model.json");
    folder.run("inspect model.json --plot weights.svg");
    assert!(folder.read("weights.svg").contains("without selection"));
}

#[test]
fn a_file_that_is_no_svg_is_a_mistake() {
    let folder = Folder::new();
    // The data is not there either, but that would be found later.
    for arguments in [
        "select absent.svm -k 1 --lambda 1 --plot a.pdf",
        "tune absent.svm -k 1 --plot a.gif",
        "inspect absent.json --plot -",
    ] {
        folder.misused(&format!("{arguments} => ends in .svg"));
    }
    for command in ["select absent.svm -k 1 --lambda 1", "inspect absent.json"] {
        folder.refused(&format!(
            "{command} --plot absent/a.svg => cannot write to absent/a.svg"
        ));
    }
}

#[test]
fn drawings_have_the_size_that_was_asked_for() {
    let folder = Folder::new();
    folder.run("select train.svm -k 3 --lambda 1 --plot wide.svg --plot-size 1600x900");
    assert!(
        folder
            .read("wide.svg")
            .contains("width=\"1600\" height=\"900\"")
    );
}
