/// What a link is made of.
struct LinkSpecification: Sendable {
    var name: String
    var kind: FakeKernel.LinkKind
    var isUp: Bool
    var hasCarrier: Bool
    /// The link this one runs over.
    var lower: String?
    /// The bridge or bond this one is a port of.
    var controller: String?
}
