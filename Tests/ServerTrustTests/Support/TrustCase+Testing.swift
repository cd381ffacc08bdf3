import Testing
import TrustForge

extension TrustCase: CustomTestStringConvertible {
    package var testDescription: String { name }
}
