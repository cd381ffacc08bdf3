import Foundation

/// An outbox for what is true of every subcommand, whatever is in it; gone when the tests have ended.
enum SharedOutbox {
    private static let directory = "/tmp/outbox-\(getpid())"

    static let arguments: [String] = {
        mkdir(directory, 0o700)
        atexit { try? FileManager.default.removeItem(atPath: directory) }
        let file = ["--outbox", "\(directory)/outbox"]
        // Only `add` makes it.
        _ = try? Command.start(["outbox", "add"] + file + ["http://127.0.0.1/"]).wait()
        return file
    }()
}
