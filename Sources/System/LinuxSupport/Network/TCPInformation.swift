/// What the kernel measured of a connection. A member is nil where the kernel is too old to tell.
///
/// C counterpart: TCP_INFO of `tcp(7)`, `struct tcp_info` of `<linux/tcp.h>`.
package struct TCPInformation: Hashable, Sendable {
    /// Smoothed; after a handshake alone, the time between SYN and SYN-ACK (`tcpi_rtt`).
    package let roundTrip: Duration?
    package let roundTripVariation: Duration?
    /// How often the segment that waits now was sent again (`tcpi_retransmits`).
    package let retransmits: Int
    /// Segments that are believed to be lost now (`tcpi_lost`).
    package let lost: Int
    /// All segments ever sent again (`tcpi_total_retrans`).
    package let totalRetransmits: Int
    /// In bytes, as far as it is known (`tcpi_pmtu`).
    package let pathMTU: Int
    /// In bytes, of what is sent (`tcpi_snd_mss`) and received (`tcpi_rcv_mss`).
    package let sendSegmentSize: Int
    package let receiveSegmentSize: Int
    /// For how long no data, and no acknowledgement, came.
    package let sinceDataReceived: Duration
    package let sinceAcknowledgement: Duration
    package let bytesReceived: UInt64?
    /// Of data, with what was sent again (`tcpi_bytes_sent`).
    package let bytesSent: UInt64?
    package let segmentsSent: Int?
    package let segmentsReceived: Int?

    /// - Parameter bytes: as `getsockopt(2)` gives them; kernels give different lengths.
    package init?(bytes: [UInt8]) {
        guard let information = bytes.withUnsafeBytes({ TCPInformation($0) }) else { return nil }
        self = information
    }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        func number(_ offset: Int) -> Int? { bytes.load(UInt32.self, at: offset).map(Int.init) }
        guard let retransmits = bytes.load(UInt8.self, at: 2), let send = number(16), let receive = number(20),
            let lost = number(32), let data = number(52), let acknowledgement = number(56), let mtu = number(60),
            let roundTrip = number(68), let variation = number(72), let total = number(100)
        else { return nil }
        self.retransmits = Int(retransmits)
        self.lost = lost
        totalRetransmits = total
        pathMTU = mtu
        sendSegmentSize = send
        receiveSegmentSize = receive
        // Milliseconds, and microseconds of the round trip, which is zero before the first.
        sinceDataReceived = .milliseconds(data)
        sinceAcknowledgement = .milliseconds(acknowledgement)
        self.roundTrip = roundTrip == 0 ? nil : .microseconds(roundTrip)
        roundTripVariation = roundTrip == 0 ? nil : .microseconds(variation)
        bytesReceived = bytes.load(UInt64.self, at: 128)
        bytesSent = bytes.load(UInt64.self, at: 200)
        segmentsSent = number(136)
        segmentsReceived = number(140)
    }
}
