import Testing

/// What the library says of the path before, after and back, in a fake kernel and a real one.
@Suite struct PathTests {
    @Test(arguments: WorldKind.allCases, PathCase.all)
    func pathFollowsTheNetwork(kind: WorldKind, play: PathCase) async throws {
        try await kind.play { world, checks in try PathRun(play, in: world, checks).run() }
    }

    @Test func namesAreUnique() {
        #expect(Set(PathCase.all.map(\.name)).count == PathCase.all.count)
    }
}
