package import ArgumentParser
import LinuxSupport
package import NetworkReachability

/// Where it is asked.
package struct NamespaceOptions: ParsableArguments {
    @Option(
        name: .customLong("netns"),
        help: ArgumentHelp("The network namespace to ask in: name, path or PID.", valueName: "netns"),
        completion: .custom { _, _, _ in NetworkNamespaces().current.map(\.name) }
    )
    package var name: String?

    package init() {}

    /// The namespace that is meant, the current one when none is named: a name of `ip netns`, which comes first, the number of a
    /// process, or a path.
    ///
    /// - Throws: ``ExitMessage`` when the text can be none of them.
    package var namespace: NetworkNamespace {
        get throws(ExitMessage) {
            guard let name else { return .current }
            if name.contains("/") { return Self.process(name).map { .process($0) } ?? .path(name) }
            guard !name.isEmpty, name != ".", name != ".." else {
                throw ExitMessage("\"\(name.printable)\" is no name, path or process of a network namespace", .usage)
            }
            if let number = Self.number(name), !NetworkNamespaces().current.contains(where: { $0.name == name }) {
                return .process(number)
            }
            return .named(name)
        }
    }

    /// The process whose namespace a path is; a process is let go of when it ends, a path is not.
    private static func process(_ path: String) -> Int32? {
        let parts = path.split(at: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "proc", parts[3] == "ns", parts[4] == "net" else {
            return nil
        }
        return number(String(parts[2]))
    }

    private static func number(_ text: String) -> Int32? {
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = Int32(text) else {
            return nil
        }
        return number > 0 ? number : nil
    }
}

/// A length of time as people write it: a number and `ms`, `s`, `m`, `h` or `d`, for example `500ms`, `1.5s`, `2m` or `1h`.
///
/// Options of this type parse with `.unconditional`, so that `-1s` is refused as what it is instead of being taken for an
/// option, and have the value name `duration`, by which the tests find them.
package struct DurationArgument: ExpressibleByArgument {
    package let text: String

    package init(argument: String) {
        text = argument
    }

    package var defaultValueDescription: String { text }

    /// - Throws: ``ExitMessage`` for another text, and for more than ``DurationText/longest``, so that sums cannot overflow.
    package var value: Duration {
        get throws {
            guard let duration = DurationText.duration(text) else {
                throw ExitMessage("\"\(text)\" is no duration: write 500ms, 1.5s, 2m or 1h, for example", .usage)
            }
            guard duration <= DurationText.longest else {
                let longest = DurationText.text(DurationText.longest)
                throw ExitMessage("\"\(text)\" is too long: a duration is at most \(longest)", .usage)
            }
            return duration
        }
    }
}

/// A moment in the past: a duration before now, or a time of RFC 3339.
package struct PastArgument: ExpressibleByArgument {
    private let text: String

    package init(argument: String) {
        text = argument
    }

    /// Returns the time since 1970.
    ///
    /// - Throws: ``ExitMessage`` for another text.
    package func real(before now: Duration) throws -> Duration {
        if let real = Timestamp.real(of: text) { return real }
        if DurationText.duration(text) != nil { return now - (try DurationArgument(argument: text).value) }
        let hint = "write a duration such as 24h, or a time such as 2026-11-21T08:15:30Z"
        throw ExitMessage("cannot use the time \"\(text.printable)\": \(hint)", .usage)
    }
}

extension ParsableArguments {
    /// Checks a number of the command line.
    ///
    /// - Throws: `ValidationError` for a number outside the range. The default maximum leaves room for sums and products.
    package func check(_ option: String, _ value: Int?, in range: ClosedRange<Int> = 1...1_000_000_000) throws {
        if let value, !range.contains(value) {
            throw ValidationError("\(option) is a number from \(range.lowerBound) to \(range.upperBound).")
        }
    }
}
