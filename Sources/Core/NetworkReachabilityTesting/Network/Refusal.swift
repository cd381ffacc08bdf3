/// What Linux would refuse, or what nobody could mean: the text says why.
struct Refusal: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
