//! The declared layouts are those of the installed class library.
use vervet_runtime::domain::Domain;
use vervet_runtime::domain::binding::Bridge;
use vervet_runtime::loader::Loader;
use vervet_types::Universe;

#[test]
fn declared_layouts_match_the_class_library() {
    let loader = &Domain::make(|_| Loader::new()).loader;
    let Ok(path) = loader.binder().corlib() else {
        println!("skipped: the class libraries are not installed");
        return;
    };
    let universe = Universe::new(Box::new(Bridge));
    loader.set_universe(universe);
    let corlib = loader.open(&path).expect("corlib loads");
    universe.set_corlib(corlib.manifest);
    universe.check_known().expect("every known type is there");
    vervet_runtime::classes::layout_check::check(universe).expect("layouts match");
    vervet_runtime::classes::layout_check::check_emit(universe)
        .expect("layouts of Reflection.Emit match");
    if !vervet_runtime::classes::layout_check::was_compared(corlib.manifest) {
        println!("the installed core library is not in COMPARED: every start checks it");
    }
}
