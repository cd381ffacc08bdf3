import Netlink

@testable import NetworkReachability

/// Links that exist only in a test, and what was asked about them.
struct FakeLinks {
    private let links: [Link]
    private let hardware: [UInt32: LinkHardware]

    init(_ links: [Link], hardware: [UInt32: LinkHardware] = [:]) {
        self.links = links
        self.hardware = hardware
    }

    /// Classifies the link of this index, which must exist.
    func classify(_ index: UInt32) -> Classification? {
        links.first { $0.index == index }.map(classify)
    }

    func classify(_ link: Link) -> Classification {
        var answers = Answers()
        var asked: [KernelQuestion] = []
        while true {
            do throws(MissingAnswers) {
                let found = try answers.classify(link)
                return Classification(class: found.class, underlying: found.underlying.map(\.index), asked: asked)
            } catch {
                asked += error.questions
                answers.add(error.questions.map(answer), to: error.questions)
            }
        }
    }

    private func answer(to question: KernelQuestion) -> KernelAnswer {
        switch question {
        case .link(let index): .link(links.first { $0.index == index })
        case .hardware(let link): .hardware(hardware[link.index] ?? LinkHardware())
        default: .links(links)
        }
    }
}

/// What a link was found to be, and the questions that took.
struct Classification {
    let `class`: InterfaceClass
    let underlying: [UInt32]
    let asked: [KernelQuestion]

    /// Those that cost system calls.
    var hardwareQuestions: Int { asked.count { if case .hardware = $0 { true } else { false } } }
    var linkQuestions: Int { asked.count { if case .link = $0 { true } else { false } } }
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
