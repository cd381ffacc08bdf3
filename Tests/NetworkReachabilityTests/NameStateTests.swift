import LinuxSupport
import Testing

@testable import NetworkReachability

@Suite("When names are asked about, and what counts")
struct NameStateTests {
    private let one = [IPAddress("192.0.2.1")].compactMap(\.self)
    private let two = [IPAddress("192.0.2.2")].compactMap(\.self)
    private let outage = Result<[IPAddress], NameLookup.Failure>.failure(.unavailable("try again"))
    private let missing = Result<[IPAddress], NameLookup.Failure>.failure(.noSuchName)

    private func asked(
        _ state: inout NameState,
        _ occasion: NameState.Occasion = .age,
        at now: Duration = .zero
    ) throws -> UInt64 {
        let question = state.ask(because: occasion, at: now)
        return try #require(question)
    }

    @Test("Pending until the first answer")
    func pending() throws {
        var state = NameState()
        #expect(state.answer == .pending)
        let question = try asked(&state)
        #expect(state.ask(because: .age, at: .zero) == nil)
        #expect(state.take(.success(one), of: question) == (true, false))
        #expect(state.answer == .addresses(one))
    }

    @Test("What the hosts file knows counts until the name service answers")
    func hosts() throws {
        var state = NameState()
        state.know([])
        #expect(state.answer == .pending)
        state.know(one)
        #expect(state.answer == .addresses(one))
        let question = try asked(&state)
        _ = state.take(.success(two), of: question)
        #expect(state.answer == .addresses(two))
    }

    @Test("An outage keeps old addresses, but is a failure where there are none; a name that is gone is gone")
    func failures() throws {
        var state = NameState()
        var question = try asked(&state)
        #expect(state.take(outage, of: question) == (true, false))
        #expect(state.answer == .failed)
        question = try asked(&state)
        _ = state.take(.success(one), of: question)
        question = try asked(&state)
        #expect(state.take(outage, of: question) == (false, false))
        #expect(state.answer == .addresses(one))
        question = try asked(&state)
        #expect(state.take(missing, of: question) == (true, false))
        #expect(state.answer == .failed)
    }

    @Test("A success without addresses is a failure")
    func empty() throws {
        var state = NameState()
        let question = try asked(&state)
        _ = state.take(.success([]), of: question)
        #expect(state.answer == .failed)
    }

    @Test("After a change a second question goes out beside a stuck one, whose failure then counts for nothing")
    func overtaking() throws {
        var state = NameState()
        let stuck = try asked(&state)
        let fresh = try asked(&state, .change, at: .seconds(1))
        #expect(state.take(.success(one), of: fresh) == (true, false))
        #expect(state.take(outage, of: stuck) == (false, false))
        #expect(state.answer == .addresses(one))
    }

    @Test("The early failure of an overtaken question says nothing")
    func overtaken() throws {
        var state = NameState()
        let stuck = try asked(&state)
        let fresh = try asked(&state, .change, at: .seconds(1))
        #expect(state.take(missing, of: stuck) == (false, false))
        #expect(state.answer == .pending)
        _ = state.take(.success(two), of: fresh)
        #expect(state.answer == .addresses(two))
    }

    @Test("A change that found no room is asked about as soon as there is")
    func missedChange() throws {
        var state = NameState()
        let first = try asked(&state)
        let second = try asked(&state, .change)
        #expect(state.ask(because: .change, at: .seconds(2)) == nil)
        #expect(state.take(.success(one), of: second) == (true, true))
        #expect(state.take(outage, of: first) == (false, false))
    }

    @Test("Backoff doubles up to a minute and ends with success")
    func backoff() throws {
        var state = NameState()
        var waits: [Duration] = []
        for _ in 0..<9 {
            let question = try asked(&state)
            _ = state.take(outage, of: question)
            waits.append(state.delay(from: .zero, interval: .seconds(300)))
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { Duration.seconds($0) })
        let question = try asked(&state, at: .seconds(10))
        _ = state.take(.success(one), of: question)
        #expect(state.delay(from: .seconds(10), interval: .seconds(300)) == .seconds(300))
        #expect(state.delay(from: .seconds(400), interval: .seconds(300)) == .zero)
        #expect(state.delayAfterChange(from: .seconds(10)) == .seconds(1))
        #expect(state.delayAfterChange(from: .seconds(12)) == .zero)
    }
}
