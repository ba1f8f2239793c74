import { BailiwickError } from '../errors.ts'

/**
 * Runs the main function of a process. A wrong setting ends it with one line on stderr and exit code 2; anything else
 * that is thrown is a bug and ends it as Node does.
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
