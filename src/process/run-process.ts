import { BailiwickError } from '../errors.ts'

/**
 * Runs the main function of a process. An invalid setting prints one line to stderr and exits with code 2; any other
 * error is a bug, and Node handles it.
 */
export async function runProcess(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    const fix = error.fix === undefined ? '' : `; ${error.fix}`
    process.stderr.write(`error[${error.code}]: ${error.message}${fix}\n`.replaceAll(/[\r\n]+(?!$)/g, ' '))
    process.exit(2)
  }
}
