import TestSupport
import Testing

@testable import LinuxSupport

struct DeadlineHeapTests {
    @Test
    func `moments come in their order, and not before`() {
        var chance = SeededGenerator(seed: 7)
        let moments = (0..<500).map { _ in Duration.milliseconds(Int.random(in: 0..<300, using: &chance)) }
        var heap = DeadlineHeap()
        for (index, moment) in moments.enumerated() { heap.insert(moment, for: UInt64(index)) }
        var popped: [Duration] = []
        for now in stride(from: 0, through: 300, by: 10) {
            while let (flight, moment) = heap.popDue(at: .milliseconds(now)) {
                #expect(moment <= .milliseconds(now))
                #expect(moment == moments[Int(flight)])
                popped.append(moment)
            }
        }
        #expect(popped == moments.sorted())
        #expect(heap.next == nil)
    }
}
