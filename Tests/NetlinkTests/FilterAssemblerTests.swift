import CLinux
import Testing

@testable import Netlink

@Suite struct FilterAssemblerTests {
    @Test func `instructions run in the order they are read in`() throws {
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

    @Test func `a jump to what comes next is none`() {
        var assembler = FilterAssembler()
        let accept = assembler.write(.accept)
        #expect(assembler.jump(to: accept) == accept)
        #expect(assembler.program == [.accept])
    }

    /// Around the reach of a conditional jump, both ways, and with a stepping stone that is used twice.
    @Test(arguments: Array(250...260) + [509, 510, 511, 4000])
    func `far jumps have stepping stones`(distance: Int) throws {
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

    @Test func `steps are shared`() throws {
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
