/// A network namespace that could not be entered: what was tried and what the system said.
package struct NamespaceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, as it follows "cannot", for example `find process 7`.
    package let attempt: String

    /// What the system said.
    package let cause: SystemError

    /// What the attempt would have needed, where that is known to be missing.
    package let capability: Capability?

    /// Whether nothing is wrong with the namespace; there is only no room to enter it now.
    package let isShortage: Bool

    package init(_ attempt: String, _ cause: SystemError, isShortage: Bool = false, capability: Capability? = nil) {
        (self.attempt, self.cause, self.isShortage, self.capability) = (attempt, cause, isShortage, capability)
    }

    /// A namespace may have any name, so the attempt is shown escaped.
    package var description: String { "cannot \(attempt.printable): \(cause)" }
}
