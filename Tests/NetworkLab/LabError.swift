import Glibc

/// A step of building or using the laboratory that failed.
package struct LabError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// The failure of a call that sets `errno`.
    package static func system(_ call: String, _ code: CInt = errno) -> LabError {
        LabError("\(call): \(String(cString: strerror(code)))")
    }
}

/// Returns the result of a C call, or throws what `errno` says when it is negative.
@discardableResult
package func check(_ call: String, _ result: CInt) throws -> CInt {
    guard result >= 0 else { throw LabError.system(call) }
    return result
}
