import CLinux

/// A socket for questions to kernel subsystems that are no part of route netlink. It lives for one round of questions in
/// the network namespace of the thread that opens it.
///
/// C counterpart: `NETLINK_GENERIC`, `<linux/genetlink.h>`.
struct GenericSocket: ~Copyable {
    private var questions: QuestionSocket

    init() throws(NetlinkError) {
        questions = try QuestionSocket(family: NETLINK_GENERIC)
    }

    /// The message kind of the family called `name`; nil while the kernel has no such family.
    ///
    /// All families are listed, because a question for one by its name makes the kernel load a module for it: a look at
    /// an ethernet device must not bring the Wi-Fi stack to a server.
    mutating func family(named name: String) throws(NetlinkError) -> MessageKind? {
        var request = RequestBuilder()
        request.begin(.genericController, flags: NLM_F_DUMP, sequence: questions.nextSequence())
        request.append(genlmsghdr(cmd: UInt8(CTRL_CMD_GETFAMILY), version: 1, reserved: 0))
        var found: MessageKind?
        try questions.exchange(request, count: 1) { _, answer in
            guard case .success(let body) = answer, let family = GenericFamily(body: body) else { return }
            if family.name == name { found = family.kind }
        }
        return found
    }

    /// The role of the Wi-Fi interface of this index (NL80211_CMD_GET_INTERFACE, needs no privilege); nil when there is
    /// none, or no Wi-Fi in this kernel.
    mutating func wirelessRole(ofInterface index: UInt32) throws(NetlinkError) -> WirelessRole? {
        guard let wireless = try family(named: NL80211_GENL_NAME) else { return nil }
        var request = RequestBuilder()
        request.begin(wireless, sequence: questions.nextSequence())
        request.append(genlmsghdr(cmd: UInt8(NL80211_CMD_GET_INTERFACE.rawValue), version: 0, reserved: 0))
        request.append(attribute: Int(NL80211_ATTR_IFINDEX.rawValue), index)
        var role: WirelessRole?
        try questions.exchange(request, count: 1) { _, answer in
            if case .success(let body) = answer { role = WirelessRole(body: body, interface: index) }
        }
        return role
    }
}
