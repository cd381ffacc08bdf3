// The entry point of the tests. SwiftPM uses this file by its name instead of searching the compiler's index for XCTest cases, of which
// there are none, so Scripts/swift-build writes no index.
import Testing

@main struct TestRunner {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}
