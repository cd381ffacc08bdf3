import ArgumentParser

@main
struct TrustCommand: ParsableCommand {}
