import LinuxSupport

/// Which link-layer addresses the kernel has had for the gateway in the course of a round. One that comes back after another shows that two
/// stations answer for it (RFC 5227); a router that was exchanged comes once. Thread-safe.
final class HardwareWitness: Sendable {
    private static let pause = Duration.milliseconds(200)

    private let seen = Locked<[[UInt8]]>([])

    /// Looks until the task is cancelled. A look asks the kernel, and sends nothing.
    func watch(_ line: LineFacts) async {
        guard line.gateway != nil else { return }
        repeat {
            if let address = line.gatewayHardware { note(address) }
            do { try await Task.sleep(for: Self.pause) } catch { return }
        } while true
    }

    func note(_ address: [UInt8]) {
        guard !address.isEmpty else { return }
        seen.withLock { seen in
            // Three turns are enough to know.
            if seen.last != address, seen.count < 4 { seen.append(address) }
        }
    }

    /// Whether one came back.
    var isContested: Bool { seen.withLock { Set($0).count < $0.count } }
}
