import '../../tool.ts'
