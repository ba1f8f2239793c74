// Plain JavaScript that any Node since 14 can read: programs begin here, so that an old Node is named and not met as a syntax error.

/** As `engines` of package.json says; since 22.18 Node strips types by itself. */
const NEEDED = [22, 18]

/**
 * Runs a program on a Node that can run it; any other ends with one line and exit code 2.
 * @param {() => unknown} program
 */
export function onNewNode(program) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return program()
  process.stderr.write(
    `error[config]: Node ${process.versions.node} is too old. Install Node ${NEEDED.join('.')} or newer.\n`,
  )
  process.exitCode = 2
}
