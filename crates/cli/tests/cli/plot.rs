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
    // The legend below the panels lists features once, and test data have a band.
    assert!(svg.contains(">features<") && !svg.contains("word:"));
    folder.run(&format!(
        "{select} --names names.txt --test test.svm --plot named.svg"
    ));
    let named = folder.read("named.svg");
    for name in [">1 word:a<", ">2 word b<", ">3 last<"] {
        assert_eq!(named.matches(name).count(), 1, "{named}");
    }
    assert!(named.contains("<polygon"));
    assert!(svg.contains("leave-query-out error") && svg.contains("at lambda 0.5"));
    folder.run(&format!("{select} --plot again.svg --threads 2 --json"));
    assert_eq!(folder.read("again.svg"), svg);
    folder.run(&format!(
        "{select} --plot test.svg --test test.svm --metrics map,cindex"
    ));
    let svg = folder.read("test.svg");
    // Each measure of test data also has a line for the order of the file, which the title names.
    assert!(svg.contains(">test cindex<") && count(&svg, "polyline") == 6);
    assert_eq!(svg.matches(">order of the file</text>").count(), 1);
    assert!(svg.contains(": map ") && svg.contains(", order of the file "));
}

#[test]
fn a_file_that_is_no_svg_is_a_mistake() {
    let folder = Folder::new();
    // The data are missing, too, but that would be found later.
    for arguments in [
        "select absent.svm -k 1 --lambda 1 --plot a.pdf",
        "tune absent.svm -k 1 --plot a.gif",
        "explain absent.json absent.svm a --plot a",
    ] {
        folder.misused(&format!("{arguments} => ends in .svg"));
    }
    for command in [
        "select absent.svm -k 1 --lambda 1",
        "explain absent.json absent.svm a",
    ] {
        folder.refused(&format!(
            "{command} --plot absent/a.svg => cannot write to absent/a.svg"
        ));
    }
}
