package import ArgumentParser
import LinuxSupport
package import NetworkReachability

/// The option that selects a network namespace.
package struct NamespaceOptions: ParsableArguments {
    @Option(
        name: .customLong("netns"),
        help: ArgumentHelp("The network namespace: a name, a path or a PID.", valueName: "netns"),
        completion: .custom { _, _, _ in NetworkNamespaces().current.map(\.name) }
    )
    package var name: String?

    package init() {}

    /// The selected namespace, or the current one if the option is missing. A value is a name of `ip netns`, a process identifier or a
    /// path. A name has priority over a process identifier.
    ///
    /// - Throws: ``ExitMessage`` if the text cannot be any of these.
    package var namespace: NetworkNamespace {
        get throws(ExitMessage) {
            guard let name else { return .current }
            if name.contains("/") { return Self.process(name).map { .process($0) } ?? .path(name) }
            guard !name.isEmpty, name != ".", name != ".." else {
                throw ExitMessage("\"\(name.printable)\" is not a name, path or PID of a network namespace", .usage)
            }
            if let number = Self.number(name), !NetworkNamespaces().current.contains(where: { $0.name == name }) {
                return .process(number)
            }
            return .named(name)
        }
    }

    /// Returns the process of a path of the form `/proc/PID/ns/net`. A namespace given by process is released when the process ends. A
    /// namespace given by path is not.
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

/// A duration: a number and `ms`, `s`, `m`, `h` or `d`, for example `500ms`, `1.5s`, `2m` or `1h`.
///
/// Options of this type parse with `.unconditional`, so that `-1s` is refused as a duration and not taken for an option. Their value name
/// is `duration`, by which tests find them.
package struct DurationArgument: ExpressibleByArgument {
    package let text: String

    package init(argument: String) {
        text = argument
    }

    package var defaultValueDescription: String { text }

    /// The parsed duration.
    ///
    /// - Throws: ``ExitMessage`` if the text is not a duration or is longer than ``DurationText/longest``, so that sums cannot overflow.
    package var value: Duration {
        get throws {
            guard let duration = DurationText.duration(text) else {
                throw ExitMessage("\"\(text)\" is not a duration; write 500ms, 1.5s, 2m or 1h, for example", .usage)
            }
            guard duration <= DurationText.longest else {
                let longest = DurationText.text(DurationText.longest)
                throw ExitMessage("\"\(text)\" is too long; the maximum duration is \(longest)", .usage)
            }
            return duration
        }
    }
}

/// A time in the past: a duration before now, or a time in the format of RFC 3339.
package struct PastArgument: ExpressibleByArgument {
    private let text: String

    package init(argument: String) {
        text = argument
    }

    /// Returns the time since 1970.
    ///
    /// - Throws: ``ExitMessage`` if the text is neither.
    package func real(before now: Duration) throws -> Duration {
        if let real = Timestamp.real(of: text) { return real }
        if DurationText.duration(text) != nil { return now - (try DurationArgument(argument: text).value) }
        let hint = "write a duration such as 24h, or a time such as 2026-11-21T08:15:30Z"
        throw ExitMessage("\"\(text.printable)\" is not a time; \(hint)", .usage)
    }
}

extension ParsableArguments {
    /// Checks the number of an option.
    ///
    /// - Throws: `ValidationError` if the number is outside the range. The default maximum prevents overflow in sums and products.
    package func check(_ option: String, _ value: Int?, in range: ClosedRange<Int> = 1...1_000_000_000) throws {
        if let value, !range.contains(value) {
            throw ValidationError("\(option) takes a number from \(range.lowerBound) to \(range.upperBound).")
        }
    }
}

extension Option {
    /// Creates an option whose value is a file.
    package init(file abstract: String) where Value == String? {
        self.init(help: ArgumentHelp(abstract, valueName: "file"), completion: .file())
    }

    /// Creates an option whose value is a duration.
    package init(duration abstract: String) where Value == DurationArgument? {
        self.init(parsing: .unconditional, help: ArgumentHelp(abstract, valueName: "duration"))
    }

    /// Creates an option whose value is an integer.
    package init(number abstract: String) where Value == Int? {
        self.init(parsing: .unconditional, help: ArgumentHelp(abstract, valueName: "number"))
    }
}

extension ArgumentHelp {
    /// Creates the help of a rarely used argument. `--help` omits it, and the manual page lists it.
    package static func rare(_ abstract: String, _ valueName: String? = nil) -> ArgumentHelp {
        ArgumentHelp(abstract, valueName: valueName, visibility: .hidden)
    }
}
