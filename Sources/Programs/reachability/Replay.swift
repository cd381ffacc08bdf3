import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSupport
import Netlink
import NetworkDiagnostics
import NetworkReachability

/// `reachability replay`: prints for a recording the lines that `watch` would print.
struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Print what watch would have printed for a recording.",
        usage: "reachability replay [<options>] <file>",
        discussion: """
            Examples: reachability replay --paths trouble.nlrec
                      reachability replay --redact-to public.nlrec trouble.nlrec
            Exit status: 0 done, 64 usage error, 65 damaged, 66 cannot read file, 73 cannot
            create copy, 74 output error.

            The same recording always prints the same lines, with the times of the
            recording.
            """
    )

    @Argument(help: "A file created by `record`.", completion: .file(extensions: ["nlrec", "pcapng"]))
    var file: String

    @Flag(help: "Print one JSON object per line (schema 1).")
    var json = false

    @OptionGroup var changes: ChangeOptions

    @Option(help: ArgumentHelp("Replay at this multiple of real time; 1 is real time.", valueName: "factor"))
    var speed: Double?

    @Option(help: ArgumentHelp("Do not replay; copy with replaced addresses and names.", valueName: "file"))
    var redactTo: String?

    func validate() throws {
        if let speed, !(speed > 0 && speed.isFinite) { throw ValidationError("--speed takes a number above 0.") }
    }

    func run() throws {
        let recording = try read()
        if let redactTo {
            try write(Redactor().redacted(recording), to: redactTo)
        } else {
            try play(recording)
        }
        if let damage = recording.damage {
            throw ExitMessage("cannot replay \(file): damaged at byte \(damage.offset): \(damage.cause)", .dataError)
        }
    }

    private func read() throws(ExitMessage) -> Recording {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try InputFile.read(file)
        } catch {
            throw ExitMessage("cannot read \(file): \(error)", .noInput)
        }
        do throws(Recording.Failure) {
            return try Recording(bytes)
        } catch {
            let action = error == .oldFormat ? "read" : "replay"
            throw ExitMessage("cannot \(action) \(file): \(error)", .dataError)
        }
    }

    private func write(_ recording: Recording, to path: String) throws(ExitMessage) {
        let copy: RecordingFile
        do throws(SystemError) {
            copy = try RecordingFile(path, replacing: false) {}
        } catch {
            throw ExitMessage("cannot create \(path): \(error)", .cantCreate)
        }
        do throws(SystemError) {
            copy.write(recording.bytes)
            try copy.finish()
        } catch {
            throw ExitMessage("cannot write \(path): \(error)", .ioError)
        }
    }

    private func play(_ recording: Recording) throws(ExitMessage) {
        let header = recording.header
        let output = WatchOutput(json: json, flags: changes.flags, paths: changes.paths)
        let player = Player(recording)
        let targets: RecordedTargets
        do throws(NetworkReachabilityError) {
            targets = try RecordedTargets(header.hosts, in: player.environment, options: header.options)
        } catch {
            throw ExitMessage("cannot replay \(file): \(error)", .dataError)
        }
        var tokens: [NetworkReachabilityToken] = []
        player.run(on: targets.monitor.queue, pause: pause) {
            tokens = targets.listen(for: output.interest) { host, path in
                let time = Timestamp(player.moment())
                let line = PathLine(target: host, namespace: header.namespace, path: path)
                // The reader has closed the pipe, which ends the command.
                if !StandardOutput.write(output.text(line, at: time)) { Glibc.exit(0) }
            }
        }
        withExtendedLifetime(tokens) {}
        tokens = []
        player.end(on: targets.monitor.queue)
        if let diagnosis = player.diagnosis { StandardError.report("\(diagnosis)") }
    }

    private func pause(_ duration: Duration) {
        guard let speed else { return }
        let nanoseconds = Double(duration.nanoseconds) / speed
        guard nanoseconds >= 1 else { return }
        let seconds = min((nanoseconds / 1e9).rounded(.down), 1e9)
        var rest = timespec(tv_sec: Int(seconds), tv_nsec: Int(min(nanoseconds - seconds * 1e9, 999_999_999)))
        _ = unsafe nanosleep(&rest, nil)
    }
}
