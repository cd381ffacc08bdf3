import Netlink

@testable import NetworkReachability

/// Links that exist only in a test, and a count of the questions that cost system calls.
final class FakeLinks {
    private let links: [Link]
    private let hardware: [UInt32: LinkHardware]
    private(set) var hardwareQuestions = 0
    private(set) var linkQuestions = 0

    init(_ links: [Link], hardware: [UInt32: LinkHardware] = [:]) {
        self.links = links
        self.hardware = hardware
    }

    var lookup: LinkLookup {
        LinkLookup(
            link: { index in
                self.linkQuestions += 1
                return self.links.first { $0.index == index }
            },
            ports: { controller in self.links.filter { $0.controllerIndex == controller } },
            hardware: { link in
                self.hardwareQuestions += 1
                return self.hardware[link.index] ?? LinkHardware()
            }
        )
    }

    /// Classifies the link of this index, which must exist.
    func classify(_ index: UInt32) -> (class: InterfaceClass, underlying: [UInt32])? {
        guard let link = links.first(where: { $0.index == index }) else { return nil }
        let found = InterfaceClassifier.classify(link, using: lookup)
        return (found.class, found.underlying.map(\.index))
    }
}

extension Link {
    /// A link that carries packets, named after its index where no name is given.
    static func fake(
        _ index: UInt32,
        _ name: String? = nil,
        kind: String? = nil,
        type: HardwareType = .ethernet,
        over lower: UInt32? = nil,
        elsewhere: Bool = false,
        portOf controller: UInt32? = nil,
        active: UInt32? = nil,
        bus: String? = nil,
        flags: LinkFlags = [.up, .running, .carrier]
    ) -> Link {
        Link(
            index: index,
            name: name ?? "if\(index)",
            flags: flags,
            hardwareType: type,
            kind: kind,
            lowerIndex: lower,
            lowerIsElsewhere: elsewhere,
            controllerIndex: controller,
            activePortIndex: active,
            parentBus: bus
        )
    }
}
