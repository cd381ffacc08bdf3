import LinuxPrimitives
import Netlink

/// A Linux network namespace as a value: what was configured, and what the kernel makes of it.
///
/// Changes are refused where Linux refuses them, and note in `heard` the messages that Linux would send; a copy is a
/// snapshot. Answers depend on nothing but the value and the time given.
struct FakeNetwork: Sendable {
    /// In the order of their indices.
    var devices: [Device] = []
    /// In the order in which source addresses are tried.
    var addresses: [Address] = []
    /// In the order in which they were added.
    var entries: [Entry] = []
    /// In the order in which they are tried.
    var rules: [Rule] = []
    var objects: [UInt32: Object] = [:]
    /// Who was found on which link.
    var neighbours: [Place: Neighbour] = [:]
    /// The families whose `ignore_routes_with_linkdown` is set for all devices.
    var ignoresLinkdown: Set<AddressFamily> = []
    /// The first rule ever splits the IPv4 tables `local` and `main`, which share one tree before.
    var hasHadRules = false
    private var nextIndex: UInt32 = 1
    private var heard = EventBurst()

    /// A namespace as every system has it at start: the loopback device, up, and the rules that were always there.
    init() {
        for family in AddressFamily.allCases { rules += Rule.standard(family) }
        let loopback = LinkSpecification(name: "lo", kind: .loopback, isUp: true, hasCarrier: true)
        // Nothing of a fresh namespace can be refused.
        try? addLink(loopback)
        try? addAddress(Prefix(WireAddress(ipv4: 0x7f00_0001), length: 8), to: "lo")
        _ = takeHeard()
    }

    /// Notes one message of the kernel about `subjects`.
    mutating func hear(_ subjects: EventBurst.Subjects, count: Int = 1, prefixes: ChangedPrefixes? = nil) {
        heard.add(EventBurst(messages: count, subjects: count == 0 ? [] : subjects, prefixes: prefixes))
    }

    /// Notes RTM_NEWROUTE or RTM_DELROUTE.
    mutating func hear(_ entry: Entry, removed: Bool = false) {
        var subjects: EventBurst.Subjects = [.route, removed ? .removal : .addition]
        guard entry.prefix.length > 0 else {
            subjects.insert(.defaultRoute)
            hear(subjects)
            return
        }
        hear(subjects, prefixes: [AddressPrefix(entry.prefix.address, length: entry.prefix.length)])
    }

    /// What was heard since the last call.
    mutating func takeHeard() -> EventBurst {
        defer { heard = EventBurst() }
        return heard
    }

    /// Indices count up and are never given again.
    mutating func makeIndex() -> UInt32 {
        defer { nextIndex += 1 }
        return nextIndex
    }

    func device(_ index: UInt32) -> Device? {
        devices.first { $0.link.index == index }
    }

    func device(named name: String) -> Device? {
        devices.first { $0.link.name == name }
    }

    /// The index of the device called `name`.
    func index(of name: String) throws(Refusal) -> UInt32 {
        guard let device = device(named: name) else { throw Refusal("there is no link \"\(name)\"") }
        return device.link.index
    }

    /// Changes the device of this index, where it exists.
    mutating func update(_ index: UInt32, _ change: (inout Device) -> Void) {
        guard let position = devices.firstIndex(where: { $0.link.index == index }) else { return }
        change(&devices[position])
    }
}
