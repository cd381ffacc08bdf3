import CLinux
package import LinuxSupport

/// A TCP connection of a network namespace, whoever it belongs to: what comes over it shows that packets flow.
///
/// C counterpart: `inet_diag_msg` of `<linux/inet_diag.h>`, `sock_diag(7)`.
package struct TCPConnection: Hashable, Sendable {
    package var local: WireAddress
    package var localPort: UInt16
    package var remote: WireAddress
    package var remotePort: UInt16
    /// The index of the interface it is bound to; 0 for none.
    package var interface: UInt32
    /// What the kernel measured.
    package var information: TCPInformation

    /// Reads the body of an answer; nil when it is truncated, or without measurements (INET_DIAG_INFO).
    init?(body: UnsafeRawBufferPointer) {
        let head = MemoryLayout<inet_diag_msg>.size
        guard let family = body.load(UInt8.self, at: 0).flatMap(AddressFamily.init(rawValue:)), body.count >= head,
            let localPort = body.load(UInt16.self, at: 4), let remotePort = body.load(UInt16.self, at: 6),
            let local = WireAddress(bytes: Array(body.bytes(from: 8, length: family.bitCount / 8))),
            let remote = WireAddress(bytes: Array(body.bytes(from: 24, length: family.bitCount / 8))),
            let interface = body.load(UInt32.self, at: 40)
        else { return nil }
        var information: TCPInformation?
        for (type, value) in Attributes(body.bytes(from: head)) where type == Int(INET_DIAG_INFO) {
            information = TCPInformation(value)
        }
        guard let information else { return nil }
        // An IPv6 socket may speak IPv4.
        (self.local, self.remote) = (local.unmapped, remote.unmapped)
        (self.localPort, self.remotePort) = (UInt16(bigEndian: localPort), UInt16(bigEndian: remotePort))
        (self.interface, self.information) = (interface, information)
    }
}
