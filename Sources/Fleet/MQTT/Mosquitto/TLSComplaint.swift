#if Fleet
import LinuxSupport

/// What the library and OpenSSL wrote into the log of a handshake that failed. It is the only place where they say what was wrong.
struct TLSComplaint {
    private let lines: [String]

    init(_ lines: [String]) {
        self.lines = lines
    }

    var cause: BrokerError.Cause {
        if lines.contains(where: { $0.contains("host name verification failed") }) { return .wrongName }
        if let line = lines.first(where: { $0.hasPrefix("Error: Unable to load") || $0.contains("inconsistent") }) {
            return .unusableFiles(Self.words(line))
        }
        // The alert of the other side, for example "tlsv13 alert certificate required".
        if let line = lines.last(where: { $0.contains(" alert ") }) { return .handshake(Self.words(line)) }
        if let line = lines.last(where: { $0.contains("certificate verify failed") }) {
            return .untrusted(Self.words(line))
        }
        return .handshake(lines.last.map(Self.words) ?? "the handshake failed")
    }

    /// Without the name and the number of the error: `error:0A000086:SSL routines::certificate verify failed`.
    private static func words(_ line: String) -> String {
        guard line.hasPrefix("OpenSSL Error"), let words = line.split(at: ":").last else {
            return line.hasPrefix("Error: ") ? String(line.dropFirst("Error: ".count)) : line
        }
        return String(words)
    }
}
#endif
