import LinuxSupport
import Netlink

/// What one evaluation leaves to the next. It saves questions and memory, and is never an answer to where packets go.
package struct EvaluationMemory {
    /// The types of interfaces, good until a link changes.
    package var interfaces = InterfaceTable()
    /// What the last evaluation needed to know: asking for it at once saves round trips. It begins with a question about a link,
    /// for notifications can come before the state they announce, but not before the answer of a link that is asked for.
    private(set) var expected = Self.first
    /// The latest that paths had in common, so that those of ten thousand targets that leave through the same interface hold it together.
    private var recent: [SharedValue<NetworkPath.Common>] = []

    private static let first: [KernelQuestion] = [.link(1)]
    private static let linkLimit = 4
    private static let recentLimit = 8

    package init() {}

    mutating func path(_ common: NetworkPath.Common, to destination: IPAddress?) -> NetworkPath {
        if let known = recent.last(where: { $0.value == common }) { return NetworkPath(known, to: destination) }
        if recent.count == Self.recentLimit { recent.removeFirst() }
        let new = SharedValue(common)
        recent.append(new)
        return NetworkPath(new, to: destination)
    }

    /// Takes what an evaluation has used.
    mutating func note(_ used: [KernelQuestion]) {
        var links = used.filter(\.isLink)
        // Those that packets left through before tell whether there is a carrier somewhere.
        for link in expected where link.isLink && !links.contains(link) && link != .link(1) { links.append(link) }
        links = Array(links.prefix(Self.linkLimit))
        expected = (links.isEmpty ? Self.first : links) + used.filter { $0.isCheap && !$0.isLink }
    }

    /// Forgets what a change of a link makes wrong.
    package mutating func forgetInterfaces() {
        interfaces = InterfaceTable()
    }
}

extension KernelQuestion {
    fileprivate var isLink: Bool {
        if case .link = self { true } else { false }
    }

    /// Whether asking once too often costs next to nothing.
    fileprivate var isCheap: Bool {
        switch self {
        case .link, .linkNamed, .route: true
        default: false
        }
    }
}
