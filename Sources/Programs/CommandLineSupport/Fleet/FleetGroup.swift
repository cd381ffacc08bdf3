package import ArgumentParser

/// `reachability fleet` itself.
package enum FleetGroup {
    /// - Parameters:
    ///   - name: What it is called where it stands.
    ///   - subcommands: One for each ``CompanionArguments`` of it.
    package static func configuration(
        name: String,
        subcommands: [any ParsableCommand.Type]
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name,
            abstract: "Explain the outages of many machines, over a broker of MQTT.",
            usage: "reachability fleet <subcommand>",
            discussion: """
                Examples: reachability fleet agent --broker mqtts://hub --site hq --device door
                          reachability fleet hub --broker mqtts://broker
                Exit status: 64 usage, 69 not installed; or as each subcommand tells.
                """,
            subcommands: subcommands
        )
    }
}
