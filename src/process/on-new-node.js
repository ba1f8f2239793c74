// Plain JavaScript that any Node since 14 can parse. Programs start here so that an old Node gets a clear message, not a syntax error.

/** The minimum in `engines` of package.json; Node strips types by default since 22.18. */
const NEEDED = [22, 18]

/**
 * Runs a program if the Node version supports it and its packages are installed; otherwise prints one line and exits with code 2.
 * @param {() => Promise<unknown>} program
 */
export function onNewNode(program) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return program().catch(refuseMissingPackage)
  process.stderr.write(
    `error[config]: Node ${process.versions.node} is too old. Install Node ${NEEDED.join('.')} or newer. ` +
      'In a checkout, `npm ci` installs one: run the programs by npm, or put node_modules/node/bin first on the PATH.\n',
  )
  process.exitCode = 2
}

/** @param {unknown} error */
async function refuseMissingPackage(error) {
  const { missingPackage } = await import('../base/missing-package.ts')
  const line = missingPackage(error)
  if (line === undefined) throw error
  process.stderr.write(`${line}\n`)
  process.exitCode = 2
}
