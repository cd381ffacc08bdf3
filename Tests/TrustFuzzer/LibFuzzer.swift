#if LIBFUZZER
import Glibc

// The functions that libFuzzer's main function calls (compiler-rt, FuzzerInterface.h).

/// Writes the seeds of all subjects into the directory `TRUST_FUZZER_SEEDS`. Their signatures differ in each run, so
/// a valid certificate of another run would count as damaged.
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

/// Evaluates one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func judge(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let judged = Subject.judge(Array(UnsafeBufferPointer(start: start, count: count)))
    // libFuzzer keeps the input of a crash.
    if case .forbidden(let what)? = judged?.finding { fatalError(what) }
    return 0
}
#endif
