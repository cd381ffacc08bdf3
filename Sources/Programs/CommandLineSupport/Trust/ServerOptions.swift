package import ArgumentParser

/// Whom `reachability pin` and `reachability trust` ask, from where, and by whose anchors.
package struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Trust these certificates in place of the system's.", valueName: "file"),
        completion: .file()
    )
    package var anchors: String?

    @Option(help: ArgumentHelp("Connect there, but judge as if it were the host.", valueName: "host"))
    package var connectTo: String?

    @OptionGroup package var namespaceOptions: NamespaceOptions

    package init() {}
}
