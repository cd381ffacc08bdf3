#if LIBFUZZER
import Glibc

// What libFuzzer, whose main function this program then has, calls (compiler-rt, FuzzerInterface.h).

/// Writes the seeds of all subjects into the directory `TRUST_FUZZER_SEEDS`: their signatures are new in each run, and a good
/// certificate of another run would be one that was not forged so.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    guard let directory = getenv("TRUST_FUZZER_SEEDS").map({ String(cString: $0) }) else { return 0 }
    for (place, subject) in Subject.all.enumerated() {
        for (number, seed) in subject.seeds.enumerated() {
            KeptInput("\(directory)/seed-\(place)-\(number)").keep(subject.input(seed))
        }
    }
    return 0
}

/// One input.
@_cdecl("LLVMFuzzerTestOneInput")
public func judge(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let judged = Subject.judge(Array(UnsafeBufferPointer(start: start, count: count)))
    // The only way to tell libFuzzer, which then keeps the input.
    if case .forbidden(let what)? = judged?.finding { fatalError(what) }
    return 0
}
#endif
