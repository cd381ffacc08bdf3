import Foundation
import LinuxPrimitives
import NetworkLab
import TrustForge
import X509

/// `openssl s_server -www`, on a thread of its own.
final class OpenSSLServer: Sendable {
    let port: Int
    private let stopping: Locked<Bool>
    private let ended: Task<Void, any Error>

    init(chain: [Forged]) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let (certificate, key) = (directory.path + "/chain.pem", directory.path + "/key.pem")
        try PEM.text(chain.map(\.der)).write(toFile: certificate, atomically: true, encoding: .utf8)
        try chain[0].key.key.serializeAsPEM().pemString.write(
            toFile: key,
            atomically: true,
            encoding: .utf8
        )
        let stopping = Locked(false)
        self.stopping = stopping
        let place = Locked<Int?>(nil)
        let isOver = Locked(false)
        ended = Task {
            defer { isOver.withLock { $0 = true } }
            try await LabThread.detached {
                defer { try? FileManager.default.removeItem(at: directory) }
                let arguments = [
                    "s_server", "-www", "-accept", "127.0.0.1:0", "-cert", certificate, "-cert_chain",
                    certificate,
                    "-key", key,
                ]
                let process = try LabProcess("openssl", arguments)
                var event = pollfd(fd: process.outputDescriptor.number, events: Int16(POLLIN), revents: 0)
                while !stopping.withLock({ $0 }), poll(&event, 1, 20) >= 0,
                    event.revents & Int16(POLLHUP) == 0
                {
                    let output = String(decoding: process.drain(), as: UTF8.self)
                    // "ACCEPT 127.0.0.1:12345"
                    let line = output.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") }
                    place.withLock { $0 = line.flatMap { $0.split(separator: ":").last }.flatMap { Int($0) } }
                }
                process.signal(SIGTERM)
                _ = try process.wait()
            }
        }
        while place.withLock({ $0 }) == nil, !isOver.withLock({ $0 }) { await Task.yield() }
        port = place.withLock { $0 } ?? 0
    }

    func stop() async throws {
        stopping.withLock { $0 = true }
        try await ended.value
    }
}
