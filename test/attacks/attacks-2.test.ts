import { evaluateCases } from './evaluate-cases.ts'

evaluateCases(2)
