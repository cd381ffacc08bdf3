/// Answers requests in the kernel's stead, from any thread.
package protocol NetlinkAnswers: Sendable {
    /// The messages that answer `request`, heads included.
    ///
    /// - Parameter request: One request, its sequence number zero, so that equal questions are equal bytes.
    func answer(to request: [UInt8]) throws(NetlinkError) -> [UInt8]
}
