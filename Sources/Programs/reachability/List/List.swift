import ArgumentParser
import CommandLineSupport
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability

/// `reachability list`: the interfaces now.
struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the interfaces, addresses and default routes.",
        discussion: """
            Examples: reachability list
                      reachability list --json | jq '.interfaces[] | {name, state}'
            Exit status: 0 printed, 64 usage, 69 the kernel cannot be asked, 74 output
            failed, 77 no permission.

            Text for people, or with --json one JSON object on one line.
            """
    )

    @Flag(help: "Print text (also --no-json), or JSON.")
    var format: ListFormat = .table

    @Flag(help: "Print again whenever anything changes; on a terminal in place.")
    var watch = false

    @OptionGroup var namespaceOptions: NamespaceOptions

    func run() throws {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = try namespaceOptions.namespace
        let inspector: NetworkInspector
        do {
            inspector = try NetworkInspector(options: options)
        } catch {
            throw ExitMessage(error)
        }
        let output = ListOutput(
            isTable: format == .table,
            redraws: watch && StandardOutput.isTerminal,
            namespace: namespaceOptions.name
        )
        if watch { return follow(inspector, output) }
        do {
            output.write(try inspector.interfaces())
        } catch {
            throw ExitMessage("\(error)", .unavailable)
        }
    }

    private func follow(_ inspector: NetworkInspector, _ output: ListOutput) {
        var signals = WatchSignals(reloads: false)
        StandardOutput.endWhenReaderLeaves()
        let watch = inspector.watchInterfaces { result in
            switch result {
            case .success(let interfaces): output.write(interfaces)
            // A namespace that has gone may come back.
            case .failure(let error): StandardError.write("reachability: \(error)")
            }
        }
        signals.waitForEnd { StandardError.write("reachability: \(inspector.statistics)") }
        watch.cancel()
    }
}

/// What `list` prints.
enum ListFormat: EnumerableFlag {
    case table
    case json

    static func name(for value: ListFormat) -> NameSpecification {
        switch value {
        case .table: [.long, .customLong("no-json")]
        case .json: .long
        }
    }
}
