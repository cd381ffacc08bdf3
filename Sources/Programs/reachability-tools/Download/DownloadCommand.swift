import ArgumentParser
import CommandLineSupport
import Glibc

/// `reachability download`, a program of its own: event loops and the TLS library would make every other subcommand several times as large,
/// and slower to start. `reachability` becomes this program.
@main
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "reachability", subcommands: [Download.self])

    static func main() async {
        CommandProcess.begin()
        // A limit of the file's size is seen as an error of write(2) too.
        _ = signal(SIGXFSZ, SIG_IGN)
        do {
            try await CommandProcess.run(Self.self)
        } catch {
            CommandProcess.end(Self.self, error)
        }
    }
}
