import Glibc
import NetworkLab

/// What programs write to the system's log, by `syslog(3)`: a socket of our own takes the place of `/dev/log`.
final class SystemLog: Sendable {
    private let directory: ScratchDirectory
    private let receiver: DatagramReceiver

    init() throws {
        directory = try ScratchDirectory()
        receiver = try DatagramReceiver(at: directory.file("log"))
        try check("chmod", chmod(receiver.place, 0o777))
    }

    /// A script that runs `program`, with devices of its own among which this log is.
    func script(running program: String) -> String {
        let devices = directory.file("dev")
        return """
            exec unshare --mount sh -ec '
            mkdir \(devices)
            for name in null zero urandom; do
                touch \(devices)/$name
                mount --bind /dev/$name \(devices)/$name
            done
            ln -s \(directory.file("log")) \(devices)/log
            mount --rbind \(devices) /dev
            exec \(program)'
            """
    }

    /// What has been written so far.
    var messages: [String] {
        var messages: [String] = []
        while let message = receiver.next(within: .zero) { messages.append(message) }
        return messages
    }
}
