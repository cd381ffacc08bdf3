import ArgumentParser
import CommandLineSupport
import Glibc

/// `reachability outbox`: a program of its own, beside this one. Its database brings Foundation, which would make every other
/// subcommand several times as large, and slower to start.
struct OutboxProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Keep HTTP requests until they can be delivered."
    )

    /// Becomes that program if it is asked for, before anything else looks at the arguments.
    static func runIfAsked(_ arguments: [String] = CommandLine.arguments) throws(ExitMessage) {
        let words = arguments.dropFirst()
        if words.first == "outbox" {
            try become(Array(words.dropFirst()))
        } else if words.prefix(2) == ["help", "outbox"] {
            try become(["help"] + words.dropFirst(2))
        }
    }

    /// - Throws: ``ExitMessage`` when it cannot be started; otherwise this does not return.
    ///
    /// C counterpart: `execv(3)`.
    private static func become(_ arguments: [String]) throws(ExitMessage) {
        let path = "\(directory)/reachability-outbox"
        var pointers = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        _ = unsafe execv(path, &pointers)
        let cause = unsafe String(cString: strerror(errno))
        throw ExitMessage("cannot run \(path): \(cause): install it beside reachability", .unavailable)
    }

    /// Where this program lies.
    private static var directory: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    }
}
