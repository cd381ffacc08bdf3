import NetworkLab
import Testing

/// The kernel's list of netlink sockets.
@Suite struct ListedSocketTests {
    /// What the kernel listed while other namespaces made sockets: the fourth line is the second's.
    private static let list = """
        sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    Inode
        0000000000000000 0   0          00000000 0        0        0     2        0        70501
        0000000000000000 0   70400      00000551 0        0        0     2        3        70510
        0000000000000000 15  0          00000000 0        0        0     2        0        70502
        0000000000000000 0   70400      00000551 0        0        0     2        5        70510

        """

    @Test func `a socket that is listed twice is one`() {
        let sockets = ListedSocket.all(listedIn: Self.list).sorted { $0.inode < $1.inode }
        #expect(sockets.map(\.inode) == [70501, 70502, 70510])
        #expect(sockets.map(\.family) == [0, 15, 0])
        #expect(sockets.map(\.port) == [0, 0, 70400])
        #expect(sockets.last?.drops == 5)
    }

    @Test func `no line of a list is no socket`() {
        #expect(ListedSocket.all(listedIn: "").isEmpty)
        #expect(ListedSocket.all(listedIn: "sk Eth Pid\n0 0 1\n").isEmpty)
    }
}
