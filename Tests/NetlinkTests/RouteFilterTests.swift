import CLinux
import Testing

@testable import LinuxSupport
@testable import Netlink

/// The program of the filter, run by an interpreter and compared with a direct search for overlaps.
@Suite struct RouteFilterTests {
    private func prefix(_ text: String) throws -> AddressPrefix {
        let parts = text.split(separator: "/")
        let address = try #require(WireAddress(String(parts[0])))
        return AddressPrefix(address, length: parts.count == 2 ? Int(parts[1]) ?? -1 : address.family.bitCount)
    }

    private func interpreter(_ watched: String...) throws -> FilterInterpreter {
        try FilterInterpreter(RouteFilter(watching: watched.map(prefix)).program)
    }

    @Test(
        arguments: [
            ("1.1.1.0/24", true), ("1.1.1.1/32", true), ("0.0.0.0/1", true), ("0.0.0.0/0", true), ("::/0", true),
            ("10.77.0.0/16", true), ("10.77.0.10/32", true), ("2606:4700::/32", true), ("fd77::10/128", true),
            ("fc00::/7", true), ("1.1.2.0/24", false), ("2.0.0.0/8", false), ("128.0.0.0/1", false),
            ("10.78.0.0/16", false), ("10.77.0.11/32", false), ("2606:4700:4700:1::/64", false),
            ("2606:4701::/32", false), ("fd77::11/128", false), ("fd78::/64", false),
        ]
    )
    func `the measured examples pass or are dropped`(route: String, passes: Bool) throws {
        var filter = try interpreter("1.1.1.1", "10.77.0.10", "2606:4700:4700::1111", "fd77::10")
        for kind in [MessageKind.newRoute, .deleteRoute] {
            #expect(try filter.passes(RouteMessage.route(prefix(route), kind: kind)) == passes)
        }
    }

    @Test func `without targets only default routes and other messages pass`() throws {
        var filter = try interpreter()
        #expect(try filter.passes(RouteMessage.route(prefix("::/0"))))
        #expect(try !filter.passes(RouteMessage.route(prefix("::/1"))))
        #expect(try !filter.passes(RouteMessage.route(prefix("0.0.0.0/1"))))
        let judged = [RTM_NEWROUTE, RTM_DELROUTE, RTM_NEWNEIGH, RTM_DELNEIGH].map { Int($0) }
        for kind in 0..<200 where !judged.contains(kind) {
            #expect(try filter.passes(RouteMessage.other(UInt16(kind))))
        }
        // The second byte of the kind is compared too.
        #expect(try filter.passes(RouteMessage.other(UInt16(RTM_NEWROUTE) | 0x100)))
    }

    @Test func `neighbours pass if they may be routers that IPv6 skips`() throws {
        var filter = try interpreter("192.0.2.1")
        for message in NeighbourMessage.all {
            #expect(try filter.passes(message.bytes) == message.mayChangeRoutes, "\(message.name)")
            for count in 0..<28 { #expect(try filter.passes(Array(message.bytes.prefix(count)))) }
        }
    }

    @Test func `malformed routes pass`() throws {
        var filter = try interpreter("192.0.2.1", "2001:db8::1")
        for route in [try prefix("198.51.100.0/24"), try prefix("2001:db8:1::/48")] {
            let whole = RouteMessage.route(route)
            #expect(try !filter.passes(whole))
            #expect(try filter.passes(RouteMessage.route(route, family: 128)))
            #expect(try filter.passes(RouteMessage.route(route, family: 7)))
            #expect(try filter.passes(RouteMessage.route(route, length: 129)))
            #expect(try filter.passes(RouteMessage.route(route, destination: [])))
            #expect(try filter.passes(RouteMessage.route(route, destination: [1, 2, 3])))
            #expect(try filter.passes(RouteMessage.route(route, destination: [UInt8](repeating: 1, count: 17))))
            // The destination ends with the last byte. Without it the attribute is invalid.
            let end = whole.count - 8
            for count in 0..<end { #expect(try filter.passes(Array(whole.prefix(count)))) }
            #expect(try !filter.passes(Array(whole.prefix(end))))
        }
        // One more than the 32 bits of IPv4.
        #expect(try filter.passes(RouteMessage.route(prefix("198.51.100.0/24"), length: 33)))
    }

    @Test(arguments: 0..<40)
    func `random routes and targets agree with the oracle`(seed: Int) throws {
        var random = RandomPrefixes(seed: UInt64(seed))
        let count = Int.random(in: 0...(seed < 30 ? 12 : 200), using: &random.generator)
        let watched = seed % 2 == 0 ? random.hosts(count) : random.prefixes(count)
        let filter = RouteFilter(watching: watched)
        let isExact = filter.isExact
        #expect(isExact)
        var interpreter = try FilterInterpreter(filter.program)
        for _ in 0..<1500 {
            let route = random.route(near: watched)
            let expected = route.length == 0 || watched.contains { $0.overlaps(route) }
            #expect(try interpreter.passes(RouteMessage.route(route)) == expected, "seed \(seed): \(route)")
        }
    }

    /// A dropped message is always a readable route to another destination.
    @Test(arguments: 0..<10)
    func `damaged messages pass unless they are readable and unrelated`(seed: Int) throws {
        var random = RandomPrefixes(seed: UInt64(seed))
        let watched = random.hosts(20)
        var interpreter = try FilterInterpreter(RouteFilter(watching: watched).program)
        let messages = (0..<200).map { _ in RouteMessage.route(random.route(near: watched)) }
        var dropped = 0
        for _ in 0..<2000 {
            guard let message = messages.randomElement(using: &random.generator) else { break }
            let spoiled = random.generator.spoiled(message, with: messages)
            guard try !interpreter.passes(spoiled) else { continue }
            dropped += 1
            var burst = EventBurst()
            spoiled.withUnsafeBytes { burst.note($0) }
            // Now a neighbour, which the burst ignores too.
            if burst.messages == 0 { continue }
            let prefix = burst.prefixes.list.first
            #expect(prefix.map { prefix in !watched.contains { $0.overlaps(prefix) } } == true, "\(spoiled)")
        }
        #expect(dropped > 0)
    }

    @Test(arguments: [1, 100, 1000, 10_000])
    func `no route to one of many targets is dropped`(count: Int) throws {
        var random = RandomPrefixes(seed: UInt64(count))
        let watched = random.hosts(count)
        let filter = RouteFilter(watching: watched)
        print("route filter: \(count) targets, \(filter.program.count) instructions, exact \(filter.isExact)")
        #expect(filter.program.count <= RouteFilter.instructionLimit)
        #expect(filter.isExact == (count <= 100))
        var interpreter = try FilterInterpreter(filter.program)
        var dropped = 0
        for _ in 0..<2000 {
            let route = random.route(near: watched)
            let passes = try interpreter.passes(RouteMessage.route(route))
            if !passes { dropped += 1 }
            // The number of comparisons grows with the logarithm.
            #expect(interpreter.steps < 200)
            if !passes { #expect(!watched.contains { $0.overlaps(route) }, "\(route)") }
        }
        #expect(dropped > 0)
        for host in watched.prefix(500) { #expect(try interpreter.passes(RouteMessage.route(host))) }
    }

    @Test func `a filter has space for hundreds of hosts`() throws {
        var generator = DecoderMutator(seed: 4)
        let ipv4 = (0..<1300).map { _ in
            AddressPrefix(host: WireAddress(ipv4: .random(in: 0 ... .max, using: &generator)))
        }
        let ipv6 = (0..<350).map { _ in
            AddressPrefix(host: WireAddress(family: .ipv6, bits: .random(in: 0 ... .max, using: &generator)))
        }
        #expect(RouteFilter(watching: ipv4).isExact)
        #expect(RouteFilter(watching: ipv6).isExact)
        #expect(!RouteFilter(watching: ipv4 + ipv6).isExact)
    }

    @Test(arguments: [1, 50, 128, 200, 300, 1000])
    func `the limit of instructions is respected`(limit: Int) throws {
        var random = RandomPrefixes(seed: UInt64(limit))
        let watched = random.prefixes(300)
        let filter = RouteFilter(watching: watched, instructionLimit: limit)
        #expect(filter.program.count <= limit)
        var interpreter = try FilterInterpreter(filter.program)
        for _ in 0..<500 {
            let route = random.route(near: watched)
            if watched.contains(where: { $0.overlaps(route) }) {
                #expect(try interpreter.passes(RouteMessage.route(route)))
            }
        }
    }

    @Test func `a halved filter has at most half as many instructions and is not exact`() throws {
        var random = RandomPrefixes(seed: 7)
        let watched = random.hosts(400)
        var filter = RouteFilter(watching: watched)
        while let shorter = filter.halved {
            #expect(shorter.program.count <= filter.program.count / 2)
            #expect(!shorter.isExact)
            filter = shorter
        }
        #expect(filter.program.count < 256)
    }

    @Test func `the order of targets does not matter`() {
        var random = RandomPrefixes(seed: 9)
        let watched = random.prefixes(100)
        #expect(RouteFilter(watching: watched) == RouteFilter(watching: watched.reversed() + watched))
    }
}

/// An interpreter of the kernel's classic BPF, as in `bpf_check_classic` and `bpf_skb_get_nlattr` of
/// `net/core/filter.c`.
struct FilterInterpreter {
    enum Refusal: Error {
        /// The length of the program is invalid.
        case length(Int)
        /// A jump at this instruction leaves the program.
        case jump(Int)
        /// A memory word does not exist, or was not written on every path to this instruction.
        case memory(Int)
        case instruction(Int)
        /// The last instruction does not end the program.
        case end
    }

    private let program: [sock_filter]
    /// The number of instructions of the last run.
    private(set) var steps = 0

    /// Checks the program as the kernel does.
    init(_ program: [FilterInstruction]) throws {
        self.program = program.map(\.encoded)
        try check()
    }

    /// Returns whether the message is delivered.
    mutating func passes(_ message: [UInt8]) throws -> Bool {
        var (a, x, counter) = (UInt32(0), UInt32(0), 0)
        var memory = [UInt32](repeating: 0xdead_beef, count: Int(BPF_MEMWORDS))
        steps = 0
        while true {
            let instruction = program[counter]
            let k = instruction.k
            counter += 1
            steps += 1
            switch CInt(instruction.code) {
            case BPF_LD | BPF_W | BPF_LEN: a = UInt32(message.count)
            case BPF_LD | BPF_W | BPF_ABS where k == UInt32(bitPattern: SKF_AD_OFF + SKF_AD_NLATTR):
                a = Self.attribute(message, from: a, type: x)
            case BPF_LD | BPF_W | BPF_ABS, BPF_LD | BPF_H | BPF_ABS, BPF_LD | BPF_B | BPF_ABS,
                BPF_LD | BPF_W | BPF_IND, BPF_LD | BPF_H | BPF_IND, BPF_LD | BPF_B | BPF_IND:
                let isIndexed = CInt(instruction.code) & 0xe0 == BPF_IND
                let start = Int(k) + (isIndexed ? Int(x) : 0)
                let size = [BPF_W: 4, BPF_H: 2, BPF_B: 1][CInt(instruction.code) & 0x18] ?? 0
                guard start + size <= message.count else { return false }
                a = message[start..<start + size].reduce(0) { $0 << 8 | UInt32($1) }
            case BPF_LD | BPF_IMM: a = k
            case BPF_LD | BPF_MEM: a = memory[Int(k)]
            case BPF_LDX | BPF_IMM: x = k
            case BPF_LDX | BPF_MEM: x = memory[Int(k)]
            case BPF_ST: memory[Int(k)] = a
            case BPF_MISC | BPF_TAX: x = a
            case BPF_MISC | BPF_TXA: a = x
            case BPF_RET | BPF_K: return k != 0
            case BPF_JMP | BPF_JA: counter += Int(k)
            case let code where code & 0x07 == BPF_JMP:
                let other = code & 0x08 == BPF_X ? x : k
                let holds = [BPF_JEQ: a == other, BPF_JGT: a > other, BPF_JGE: a >= other][code & 0xf0]
                guard let holds else { throw Refusal.instruction(counter - 1) }
                counter += Int(holds ? instruction.jt : instruction.jf)
            case let code where code & 0x07 == BPF_ALU:
                let other = code & 0x08 == BPF_X ? x : k
                switch code & 0xf0 {
                case BPF_ADD: a &+= other
                case BPF_SUB: a &-= other
                case BPF_AND: a &= other
                case BPF_OR: a |= other
                case BPF_XOR: a ^= other
                case BPF_NEG: a = 0 &- a
                // The result of wider shifts depends on the processor.
                case BPF_LSH where other < 32: a <<= other
                case BPF_RSH where other < 32: a >>= other
                default: throw Refusal.instruction(counter - 1)
                }
            default: throw Refusal.instruction(counter - 1)
            }
        }
    }

    /// Returns the offset of the first attribute of this type from `start` on, or 0.
    private static func attribute(_ message: [UInt8], from start: UInt32, type: UInt32) -> UInt32 {
        var start = Int(start)
        while message.count >= 4, start <= message.count - 4 {
            let length = Int(UInt16(message[start]) | UInt16(message[start + 1]) << 8)
            guard length >= 4, start + length <= message.count else { return 0 }
            let found = UInt32(message[start + 2]) | UInt32(message[start + 3] & 0x3f) << 8
            if found == type { return UInt32(start) }
            start += (length + 3) & ~3
        }
        return 0
    }

    private func check() throws {
        guard 1...Int(BPF_MAXINSNS) ~= program.count else { throw Refusal.length(program.count) }
        guard let last = program.last, CInt(last.code) & 0x07 == BPF_RET else { throw Refusal.end }
        // The memory words that were written on every path to an instruction.
        var written = [UInt16](repeating: .max, count: program.count + 1)
        written[0] = 0
        var isReachedByFall = true
        for (index, instruction) in program.enumerated() {
            if !isReachedByFall, written[index] == .max, index > 0 { continue }
            var slots = written[index]
            let code = CInt(instruction.code)
            isReachedByFall = true
            switch code {
            case BPF_ST:
                guard instruction.k < BPF_MEMWORDS else { throw Refusal.memory(index) }
                slots |= 1 << UInt16(instruction.k)
            case BPF_LD | BPF_MEM, BPF_LDX | BPF_MEM:
                guard instruction.k < BPF_MEMWORDS, slots & 1 << UInt16(instruction.k) != 0 else {
                    throw Refusal.memory(index)
                }
            case BPF_JMP | BPF_JA:
                try land(index, Int(instruction.k), slots, &written)
                isReachedByFall = false
            case let code where code & 0x07 == BPF_JMP:
                try land(index, Int(instruction.jt), slots, &written)
                try land(index, Int(instruction.jf), slots, &written)
                isReachedByFall = false
            case let code where code & 0x07 == BPF_RET: isReachedByFall = false
            default: break
            }
            if isReachedByFall { written[index + 1] &= slots }
        }
    }

    private func land(_ index: Int, _ distance: Int, _ slots: UInt16, _ written: inout [UInt16]) throws {
        guard index + 1 + distance < program.count else { throw Refusal.jump(index) }
        written[index + 1 + distance] &= slots
    }
}

@Suite struct FilterAssemblerTests {
    @Test func `instructions run in the written order`() throws {
        var assembler = FilterAssembler()
        let drop = assembler.write(.drop)
        let accept = assembler.write(.accept)
        assembler.branch(.equal, .constant(5), then: accept, else: drop)
        assembler.write(.loadConstant(2), .calculate(.add, .constant(3)))
        #expect(
            assembler.program == [
                .loadConstant(2), .calculate(.add, .constant(3)), .branch(.equal, .constant(5), then: 0, else: 1),
                .accept, .drop,
            ]
        )
        var interpreter = try FilterInterpreter(assembler.program)
        #expect(try interpreter.passes([]))
    }

    @Test func `a jump to the next instruction is omitted`() {
        var assembler = FilterAssembler()
        let accept = assembler.write(.accept)
        #expect(assembler.jump(to: accept) == accept)
        #expect(assembler.program == [.accept])
    }

    /// Distances around the maximum of a conditional jump, in both branches, with a step that is used twice.
    @Test(arguments: Array(250...260) + [509, 510, 511, 4000])
    func `far jumps use intermediate steps`(distance: Int) throws {
        var assembler = FilterAssembler()
        let drop = assembler.write(.drop)
        let accept = assembler.write(.accept)
        for _ in 0..<distance { assembler.write(.negate) }
        let second = assembler.branch(.equal, .constant(2), then: accept, else: drop)
        assembler.branch(.equal, .constant(1), then: accept, else: second)
        assembler.write(.load(.byte, at: 0))
        var interpreter = try FilterInterpreter(assembler.program)
        for value in UInt8(0)...3 {
            #expect(try interpreter.passes([value]) == (value == 1 || value == 2))
        }
        #expect(assembler.count <= distance + 2 + 3 + 2)
    }

    @Test func `intermediate steps are shared`() throws {
        var assembler = FilterAssembler()
        let drop = assembler.write(.drop)
        let accept = assembler.write(.accept)
        var next = drop
        for value in UInt32(0)..<1000 {
            next = assembler.branch(.equal, .constant(value * 2), then: accept, else: next)
        }
        assembler.write(.load(.word, at: 0))
        #expect(assembler.count < 1000 + 20)
        var interpreter = try FilterInterpreter(assembler.program)
        for value in UInt16(0)..<2100 {
            let message: [UInt8] = [0, 0, UInt8(value >> 8), UInt8(truncatingIfNeeded: value)]
            #expect(try interpreter.passes(message) == (value % 2 == 0 && value < 2000))
        }
    }
}
