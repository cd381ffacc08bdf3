import LinuxSupport
import NetworkDiagnostics
import NetworkReachability

/// What a recording plays, one line for each path that is told.
enum PlayedLines {
    static func play(
        _ recording: Recording,
        _ interest: NetworkReachabilityInterest = .path
    ) throws -> (lines: [String], diagnosis: String?) {
        let player = Player(recording)
        let targets = try RecordedTargets(
            recording.header.hosts,
            in: player.environment,
            options: recording.header.options
        )
        let lines = Locked<[String]>([])
        var tokens: [NetworkReachabilityToken] = []
        player.run(on: targets.monitor.queue) {
            tokens = targets.listen(for: interest) { host, path in
                let line = "\(player.moment().monotonic) \(host ?? "network"): \(path)"
                lines.withLock { $0.append(line) }
            }
        }
        withExtendedLifetime(tokens) {}
        tokens = []
        player.end(on: targets.monitor.queue)
        return (lines.withLock { $0 }, player.diagnosis)
    }
}
