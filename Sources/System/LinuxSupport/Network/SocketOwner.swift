import CLinux
import Glibc

/// The user behind a TCP connection from this machine.
package enum SocketOwner {
    /// Returns the user that owns the TCP socket with these ends, as seen from that socket.
    ///
    /// The result is nil if no socket of this network namespace has these ends, or if its process has closed it: the kernel reports root as
    /// the owner of such a socket.
    ///
    /// C counterpart: SOCK_DIAG_BY_FAMILY of `sock_diag(7)`, without NLM_F_DUMP.
    package static func user(
        local: (address: WireAddress, port: UInt16),
        remote: (address: WireAddress, port: UInt16)
    ) -> UInt32? {
        let number = socket(AF_NETLINK, CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue), NETLINK_SOCK_DIAG)
        guard number >= 0 else { return nil }
        let file = Descriptor(owning: number)
        var request = Request()
        request.header.nlmsg_len = UInt32(MemoryLayout<Request>.size)
        request.header.nlmsg_type = UInt16(SOCK_DIAG_BY_FAMILY)
        request.header.nlmsg_flags = UInt16(NLM_F_REQUEST)
        request.body.sdiag_family = UInt8(local.address.family == .ipv4 ? AF_INET : AF_INET6)
        request.body.sdiag_protocol = UInt8(IPPROTO_TCP)
        request.body.idiag_states = .max
        request.body.id.idiag_sport = local.port.bigEndian
        request.body.id.idiag_dport = remote.port.bigEndian
        withUnsafeMutableBytes(of: &request.body.id.idiag_src) { $0.copyBytes(from: local.address.bytes) }
        withUnsafeMutableBytes(of: &request.body.id.idiag_dst) { $0.copyBytes(from: remote.address.bytes) }
        // INET_DIAG_NOCOOKIE
        request.body.id.idiag_cookie = (.max, .max)
        let sent = withUnsafeBytes(of: request) { send(file.number, $0.baseAddress, $0.count, 0) }
        guard sent == MemoryLayout<Request>.size else { return nil }
        // The kernel has answered before `send` returns.
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = recv(file.number, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        guard count >= MemoryLayout<Answer>.size else { return nil }
        let answer = buffer.withUnsafeBytes { $0.loadUnaligned(as: Answer.self) }
        guard answer.header.nlmsg_type == UInt16(SOCK_DIAG_BY_FAMILY), answer.body.idiag_inode != 0 else { return nil }
        return answer.body.idiag_uid
    }

    private struct Request {
        var header = nlmsghdr()
        var body = inet_diag_req_v2()
    }

    private struct Answer {
        var header = nlmsghdr()
        var body = inet_diag_msg()
    }
}
