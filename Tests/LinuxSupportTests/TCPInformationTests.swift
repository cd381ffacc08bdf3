import LinuxSupport
import Testing

/// What the kernel measured of a connection.
struct TCPInformationTests {
    @Test
    func `the members stand where the kernel puts them`() throws {
        var bytes = [UInt8](repeating: 0, count: 144)
        func put(_ number: UInt32, at offset: Int) {
            bytes.replaceSubrange(offset..<(offset + 4), with: withUnsafeBytes(of: number) { Array($0) })
        }
        bytes[2] = 4
        put(1448, at: 16)
        put(7, at: 32)
        put(250, at: 52)
        put(1500, at: 60)
        put(123, at: 68)
        put(9, at: 100)
        put(11, at: 140)
        let information = try #require(TCPInformation(bytes: bytes))
        #expect(information.retransmits == 4)
        #expect(information.sendSegmentSize == 1448)
        #expect(information.lost == 7)
        #expect(information.sinceDataReceived == .milliseconds(250))
        #expect(information.pathMTU == 1500)
        #expect(information.roundTrip == .microseconds(123))
        #expect(information.totalRetransmits == 9)
        #expect(information.segmentsReceived == 11)
    }

    @Test
    func `an older kernel tells less`() throws {
        let information = try #require(TCPInformation(bytes: [UInt8](repeating: 0, count: 104)))
        #expect(information.segmentsSent == nil)
        #expect(information.bytesReceived == nil)
        // No handshake, no round trip: it is not zero.
        #expect(information.roundTrip == nil)
        #expect(TCPInformation(bytes: [UInt8](repeating: 0, count: 103)) == nil)
    }
}
