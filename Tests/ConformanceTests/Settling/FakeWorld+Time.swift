extension FakeWorld {
    /// Lets so much time go by, and everything happen that is due or needs none.
    func pass(_ duration: Duration) {
        flush()
        clock.advance(by: duration)
        flush()
    }

    /// Changes something, and lets everything happen that needs no time.
    func change(_ changes: Change...) throws {
        try apply(changes)
        flush()
    }

    /// Loses the network and gives it back.
    func flap() throws {
        try change(.lose)
        try change(.regain)
    }
}
