import Glibc

#if LIBFUZZER
/// libFuzzer's loop (compiler-rt, FuzzerInterface.h): calls back with each input, and ends the process by itself.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

extension TrustFuzzer {
    /// Fills the directory with the seeds of all subjects, for their signatures are new in each run, and goes on from there.
    static func fuzz(_ arguments: [String]) {
        for subject in Subject.all {
            for (number, seed) in subject.seeds.enumerated() {
                let name = subject.name.map { $0.isLetter ? $0 : "-" }
                KeptInput("\(arguments[0])/seed-\(String(name))-\(number)").keep(subject.input(seed))
            }
        }
        var texts = (["TrustFuzzer"] + arguments).map { strdup($0) } + [nil]
        var count = Int32(arguments.count + 1)
        let status = texts.withUnsafeMutableBufferPointer { buffer in
            guard var start = buffer.baseAddress else { return Int32(1) }
            return runDriver(&count, &start) { start, count in
                let judged = Subject.judge(Array(UnsafeBufferPointer(start: start, count: count)))
                // The only way to tell libFuzzer, which keeps the input.
                if case .forbidden(let what)? = judged?.finding { fatalError(what) }
                return 0
            }
        }
        exit(status)
    }
}
#else
extension TrustFuzzer {
    static func fuzz(_ arguments: [String]) {
        fail("libFuzzer was not built in: use Scripts/fuzz")
    }
}
#endif
