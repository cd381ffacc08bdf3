import Foundation

/// An outbox for what is true of every subcommand, whatever is in it; gone when the tests have ended.
enum SharedOutbox {
    private static let directory = "/tmp/outbox-\(getpid())"

    static let arguments: [String] = {
        mkdir(directory, 0o700)
        atexit { try? FileManager.default.removeItem(atPath: directory) }
        // Only `add` would make it.
        close(open("\(directory)/outbox", O_CREAT | O_WRONLY, 0o600))
        return ["--file", "\(directory)/outbox"]
    }()
}
