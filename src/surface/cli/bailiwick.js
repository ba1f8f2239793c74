#!/usr/bin/env node
// Plain JavaScript that any Node since 14 can read: it only finds a Node that runs the rest.
import { existsSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** As `engines` of package.json says; since 22.18 Node strips types by itself. */
const NEEDED = [22, 18]

if (isNewEnough(process.versions.node)) {
  keepCompiled()
  // not awaited: an error in it is a bug and ends the process with a stack trace
  import('./run.ts')
} else {
  const newer = nodeOfDependency()
  if (newer === undefined) {
    process.stderr.write(
      `error[config]: Node ${process.versions.node} is too old. Install Node ${NEEDED.join('.')} or newer. ` +
        'In a checkout, `npm ci` installs one, which this program finds.\n',
    )
    process.exitCode = 2
  } else {
    runWith(newer)
  }
}

/** @param {string} version */
function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
}

/**
 * Keeps compiled code for the next start in a folder of this user, because anyone could have created Node's default in
 * /tmp. NODE_COMPILE_CACHE names another folder, NODE_DISABLE_COMPILE_CACHE=1 turns it off.
 */
function keepCompiled() {
  if (process.env.NODE_COMPILE_CACHE) return
  module.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bailiwick', 'compiled'))
}

/** The Node that the npm package `node` installs beside this one, if it is there. */
function nodeOfDependency() {
  try {
    const require = createRequire(import.meta.url)
    const name = process.platform === 'win32' ? 'node.exe' : 'node'
    const program = join(dirname(require.resolve('node/package.json')), 'bin', name)
    return existsSync(program) ? program : undefined
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** @param {string} program */
async function runWith(program) {
  const { spawn } = await import('node:child_process')
  const script = fileURLToPath(import.meta.url)
  const child = spawn(program, [script, ...process.argv.slice(2)], { stdio: 'inherit' })
  // the terminal sends these to the child as well; the child decides, and its exit is passed on
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.on('error', error => {
    process.stderr.write(`error[config]: ${program} does not start (${error.message}): run \`npm ci\` again\n`)
    process.exitCode = 2
  })
  child.on('close', (code, signal) => {
    // shells report 130 for a program that Ctrl-C ended
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 2)
  })
}
